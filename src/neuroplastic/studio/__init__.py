"""The studio: a web application, served locally, in which agents are watched, rules turned and tables fitted."""
